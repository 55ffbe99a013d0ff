"""django-ox on psycopg, in a project with persistent connections."""

from django_project import DjangoContestant
from driver import main


class DjangoOx(DjangoContestant):
    packages = ("django-ox", "django", "psycopg")
    app, backend, model = "django_ox", "django_ox.backend.OxBackend", "django_ox.OxTask"
    command = ("ox_worker",)

    async def enqueue_bulk(self, numbers: range) -> None:
        from asgiref.sync import sync_to_async
        from django_ox.bulk import enqueue_many

        await sync_to_async(enqueue_many)(self.nothing, [((number,), {}) for number in numbers])


main(DjangoOx)
