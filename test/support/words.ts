/** Zod's own words, which users wouldn't understand. */
export const ZODS_WORDS = /Too small|Too big|Invalid|expected|received|Unrecognized/
