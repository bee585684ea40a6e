"""A run as a film: pictures that were taken anyway, with touches and captions, as an MP4. Knows no phone."""
