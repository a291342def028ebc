"""Conversations in: from chat messages to turns, episodes and the typed memories that the turns hold."""
