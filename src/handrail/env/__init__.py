"""Phones for training: reset, step, observation, reward. Many in one process, in virtual time."""

from handrail.env.environment import PhoneEnv
from handrail.env.many import PhoneVectorEnv
from handrail.env.task import EnvEpisode, EnvQuestion, EnvTask, EpisodeVerdict

__all__ = ["EnvEpisode", "EnvQuestion", "EnvTask", "EpisodeVerdict", "PhoneEnv", "PhoneVectorEnv"]
