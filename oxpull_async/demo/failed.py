"""Why a demo ends early."""


class DemoFailed(Exception):
    """The demo cannot go on; the text says why and what to do."""
