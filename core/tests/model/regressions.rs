//! Histories that once went wrong, each as small as it could be made and named for what it shows.
