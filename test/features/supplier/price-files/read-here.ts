import { vi } from 'vitest'
import { Imports } from '../../../../src/features/supplier/price-files/imports.ts'
import { readPriceFile } from '../../../../src/features/supplier/price-files/read-price-file.ts'

/**
 * Until the end of a test, files are read in its process. `upload.test.ts` and `hostile-files.test.ts` are about the process that
 * the app starts for each file.
 */
export function readHere(): void {
  vi.spyOn(Imports.prototype, 'readFile').mockImplementation(({ path, ...how }) => readPriceFile(path, how))
}
