"""Carry the database contract over asyncpg, aiomysql and aiosqlite.

No decision about tasks lives here, and no driver knows another one.
"""
