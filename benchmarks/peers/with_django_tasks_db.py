"""django-tasks-db on psycopg, in a project with persistent connections."""

from django_project import DjangoContestant
from driver import main


class DjangoTasksDb(DjangoContestant):
    packages = ("django-tasks-db", "django", "psycopg")
    app, backend, model = "django_tasks_db", "django_tasks_db.DatabaseBackend", "django_tasks_database.DBTaskResult"
    command = ("db_worker", "--no-startup-delay", "--no-reload")


main(DjangoTasksDb)
