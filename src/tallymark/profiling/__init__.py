"""What is in a file or a dataframe, what each column could be, and which questions it can answer."""
