"""The core: every operation once, as a coroutine over a Connection.

No loop, no clock, no driver.
"""
