"""What the jobs of evaluation share."""

NO_GRADES = "{version} holds no grades on this side: there is nothing to score against."
