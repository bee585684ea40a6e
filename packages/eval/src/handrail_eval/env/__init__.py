"""Phones for training: reset, step, observation, reward. Many in one process, in virtual time."""

from handrail_eval.env.environment import PhoneEnv
from handrail_eval.env.many import PhoneVectorEnv
from handrail_eval.env.task import EnvEpisode, EnvQuestion, EnvTask, EpisodeVerdict

__all__ = ["EnvEpisode", "EnvQuestion", "EnvTask", "EpisodeVerdict", "PhoneEnv", "PhoneVectorEnv"]
