"""How a task becomes unique, and where its rows have to be."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from compat_sync.unique import is_registered, unique
from tests.compat import routing
from tests.compat.promises import shop
from tests.compat.promises.kit import counts


class Replicated:
    """Sends writes where the test wants them, and reads to a database that is not there."""

    def __init__(self, **places: str) -> None:
        self.places = places
        self.asked: list[str] = []

    def db_for_write(self, model: type, **_hints: Any) -> str:
        """Name the database of a model."""
        self.asked.append(model.__name__)
        return self.places.get(model.__name__, routing.current["alias"])

    def db_for_read(self, _model: type, **_hints: Any) -> str:
        """Name a replica."""
        return "replica"


def test_unique_above_the_decorator_makes_the_task_unique(own_site: str) -> None:
    assert is_registered(shop.charge.module_path)
    assert unique(shop.charge) is shop.charge
    assert not is_registered(shop.send_invoice.module_path)
    assert [shop.charge.enqueue(1).created for _ in range(2)] == [True, False]
    assert [shop.send_invoice.enqueue(1).created for _ in range(2)] == [True, True]


@pytest.mark.parametrize("wrong", [shop.charge.func, None, "shop.charge"])
def test_unique_anywhere_else_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="above @task"):
        unique(wrong)


def test_a_router_that_splits_the_tables_is_refused_at_enqueue(own_site: str) -> None:
    with override_settings(DATABASE_ROUTERS=[Replicated(OxpullUniqueKey="elsewhere")]):
        for call in (shop.charge.enqueue, shop.send_invoice.enqueue):
            with pytest.raises(ImproperlyConfigured, match="OxpullUniqueKey to 'elsewhere'"):
                call(1)
    assert counts(own_site) == (0, 0)


def test_bulk_calls_look_at_the_placement_each_time(own_site: str) -> None:
    router = Replicated()
    backend: Any = shop.charge.get_backend()
    with override_settings(DATABASE_ROUTERS=[router]):
        backend.enqueue_many(shop.charge, [([1], {})])
        router.places["OxpullUniqueKey"] = "elsewhere"
        with pytest.raises(ImproperlyConfigured, match="elsewhere"):
            backend.enqueue_many(shop.charge, [([2], {})])
    assert counts(own_site) == (1, 1)


def test_results_are_read_from_the_database_of_the_writes(own_site: str) -> None:
    with override_settings(DATABASE_ROUTERS=[Replicated()]):
        first = shop.charge.enqueue(1)
        assert shop.charge.enqueue(1).id == first.id
        assert shop.charge.get_result(first.id) == first
        first.refresh()
