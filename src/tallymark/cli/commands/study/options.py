"""What the commands of a study share."""

from __future__ import annotations

from typing import Annotated

from tallymark.cli.options import argument

File = Annotated[str, argument("FILE", "TOML file that describes the study; results are kept beside it.")]
