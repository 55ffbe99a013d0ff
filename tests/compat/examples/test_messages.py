"""What a newcomer reads who forgot a step names the step as a Django project calls it."""

import asyncio

import pytest

from compat_sync.exceptions import NotMigrated
from tests.compat import shop
from tests.compat.conftest import KINDS, Kind
from tests.compat.django_aliases import add_alias, drop_alias
from tests.compat.routing import current
from tests.fixtures.servers import MakeDatabase


@pytest.mark.parametrize("kind", KINDS)
def test_an_enqueue_before_migrate_names_the_command_of_django(
    kind: Kind, make_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_alias("unmigrated", make_database(kind))
    monkeypatch.setitem(current, "alias", "unmigrated")
    with pytest.raises(NotMigrated, match=r"run `manage\.py migrate --database unmigrated`"):
        shop.send_invoice.enqueue(1)
    with pytest.raises(NotMigrated, match=r"run `manage\.py migrate --database unmigrated`"):
        asyncio.run(shop.send_invoice.aenqueue(1))
    drop_alias("unmigrated")
