"""The table of orders, which the Django shop's migrations make, and sessions on its database."""

import os
from pathlib import Path

from sqlalchemy import BigInteger, Integer, NullPool, String, make_url
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_DRIVERS = {"postgresql": "postgresql+asyncpg", "mysql": "mysql+aiomysql", "sqlite": "sqlite+aiosqlite"}

DATABASE_URL = os.environ.get("OXPULL_DATABASE_URL", f"sqlite:///{Path(__file__).resolve().parents[2] / 'shop.db'}")


class Base(DeclarativeBase):
    """What SQLAlchemy's tables are made of."""


class Order(Base):
    """What a customer wants: a row of the Django shop's model."""

    __tablename__ = "shop_order"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    reference: Mapped[str] = mapped_column(String(64))
    product: Mapped[str] = mapped_column(String(100))
    quantity: Mapped[int] = mapped_column(Integer)
    invoiced: Mapped[bool] = mapped_column(default=False)
    packed: Mapped[bool] = mapped_column(default=False)


_url = make_url(DATABASE_URL)

# No pool: its connections would be left open when a worker's event loop ends, and some drivers complain about that.
sessions = async_sessionmaker(create_async_engine(_url.set(drivername=_DRIVERS[_url.drivername]), poolclass=NullPool))
