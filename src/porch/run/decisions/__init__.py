"""What a person is shown with a question: its files, the round before, reviews, measured work."""
