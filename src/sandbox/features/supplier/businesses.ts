/** The business whose features `npm run demo` sets up. */
export const SAMPLE_SUPPLIER = 'summit-supplies'
/** The businesses that sell to builders. */
export const SUPPLIERS = [SAMPLE_SUPPLIER, 'summit-coast', 'summit-ranges']
