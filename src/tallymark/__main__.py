"""``python -m tallymark``."""

from tallymark.cli.app import main

main()
