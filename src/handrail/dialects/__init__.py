"""Pure translations between a seed's own JSON and the vocabulary. Know `protocol`, and nothing that acts."""
