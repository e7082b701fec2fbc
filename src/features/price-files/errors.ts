import { AppError, PlatformError } from '../../connect/errors.ts'
import { texts } from './texts.ts'

const TITLES = {
  not_found: texts.errors.notFound.title,
  payload_too_large: texts.errors.tooLarge.title,
  unsupported_media_type: texts.errors.mediaType.title,
  upload_quota_exceeded: texts.errors.quota.title,
  storage_full: texts.errors.storageFull.title,
  conflict: texts.errors.conflict,
  invalid_input: texts.errors.invalidInput,
  import_unreadable: texts.errors.unreadable.title,
} as const

/** An import request that cannot be carried out. */
export class ImportError extends AppError {
  readonly code: keyof typeof TITLES
  readonly status: number
  constructor(status: number, code: keyof typeof TITLES, message: string) {
    super(message, { title: TITLES[code] })
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
export const importNotFound = () => new ImportError(404, 'not_found', texts.errors.notFound.detail)

/** 500: the stored job has a format that this version of the app does not support. */
export const unreadableImport = () =>
  new ImportError(500, 'import_unreadable', texts.errors.unreadable.detail)
