"""``python -m coterie.cli``: the `coterie` command without its script."""

import sys

from coterie.cli import main

sys.exit(main())
