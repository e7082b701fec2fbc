import { AppError, PlatformError, type PlatformRejectedError } from '../../connect/errors.ts'
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

/** The platform refused to start the import, and says why. */
export const startRefused = ({ platformMessage, reason }: PlatformRejectedError) =>
  new ImportFailedError(texts.failures.startRefused(platformMessage), { reason })

/** The platform refused the upload that begins with this item, counted from 1, and says why. */
export const uploadRefused = ({ platformMessage, reason }: PlatformRejectedError, first: number) =>
  new ImportFailedError(texts.failures.uploadRefused(first, platformMessage), { reason })

/** 404: no import with this id. */
export const importNotFound = () => new ImportError(404, 'not_found', texts.errors.notFound)

/** 500: the stored job has a format that this version of the app does not support. */
export const unreadableImport = () => new ImportError(500, 'import_unreadable', texts.errors.unreadable)
