"""What results say: facts that reports and people act on."""
