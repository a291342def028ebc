"""What thinks with a language model: rating importance, and reflecting. Everything here also has an offline way."""
