"""What the pages share; each module has one job."""
