"""The debug side of a React Native app: a JS context, React's DevTools hook, and Metro in front of them."""
