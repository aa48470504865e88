"""Tests here and below can import the modules beside this one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
