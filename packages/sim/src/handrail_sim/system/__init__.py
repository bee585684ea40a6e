"""What Android keeps of apps: packages, tasks, activities, intents, notifications, settings, logs."""
