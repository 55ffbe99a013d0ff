"""Run the command line as `python -m oxpull_async`."""

from oxpull_async.cli import main

if __name__ == "__main__":
    main()
