// What JavaScript adds to pages that work without it. Nothing here decides or reads anything else.
export {};
