import { AppError, PlatformError } from '../../connect/errors.ts'
import { texts } from './texts.ts'

const titles: Partial<Record<string, string>> = texts.titles

/** The pages of `src/web` have titles for the last two. */
type Code = keyof typeof texts.titles | 'not_found' | 'invalid_input'

/** An import request that cannot be carried out. */
export class ImportError extends AppError {
  readonly code: Code
  readonly status: number
  constructor(status: number, code: Code, message: string) {
    super(message, { title: titles[code] })
    this.status = status
    this.code = code
  }
}

/** The platform did not complete the import, or did not accept every item. */
export class ImportFailedError extends PlatformError {
  readonly code = 'import_failed'
  readonly status = 502
}

/** 404: no import with this id. */
export const importNotFound = () => new ImportError(404, 'not_found', texts.errors.notFound)

/** 409: the file, its items or what was found in it are gone. */
export const fileGone = () => new ImportError(409, 'conflict', texts.failures.fileGone)
