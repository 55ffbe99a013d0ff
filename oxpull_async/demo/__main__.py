"""Run the demo by itself: `python -m oxpull_async.demo`."""

from oxpull_async.demo.run import demo_command

demo_command(prog_name="oxpull demo")
