"""What every interleaving came to in every setting, as a table."""

import sys
from collections import defaultdict


class Matrix:
    """Outcomes by interleaving and setting; `show` prints them, settings with equal outcomes in one line."""

    def __init__(self) -> None:
        self._outcomes: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))

    def note(self, interleaving: str, setting: str, kind: str, outcome: str) -> None:
        """Keep one outcome."""
        self._outcomes[interleaving][setting][kind] = outcome

    def show(self) -> None:
        """Print all of them."""
        for interleaving, by_setting in self._outcomes.items():
            lines: dict[str, list[str]] = defaultdict(list)
            for setting, by_kind in by_setting.items():
                outcomes = set(by_kind.values())
                text = outcomes.pop() if len(outcomes) == 1 else "; ".join(f"{k}: {o}" for k, o in by_kind.items())
                lines[text].append(setting)
            sys.stdout.write(f"\n{interleaving}\n")
            for text, settings in lines.items():
                sys.stdout.write(f"  {text:24} {', '.join(settings)}\n")
