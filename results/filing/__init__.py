"""From what a tester typed to a filed result: the form and its rules, drafts before, corrections after."""
