/** Zod's own words, which mean nothing to people. */
export const ZODS_WORDS = /Too small|Too big|Invalid|expected|received|Unrecognized/
