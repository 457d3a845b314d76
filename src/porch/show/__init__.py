"""Pure pictures: status, boards, timelines, prompts and graphs."""
