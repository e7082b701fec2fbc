import { AppError, PlatformError } from '../../connect/errors.ts'

const TITLES = {
  not_found: 'Not found',
  payload_too_large: 'File too large',
  unsupported_media_type: 'Unsupported media type',
  upload_quota_exceeded: 'Storage limit reached',
  storage_full: 'No space for price files',
  conflict: 'Conflict',
  invalid_input: 'Please check your input',
  import_unreadable: 'This import cannot be read',
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
export const importNotFound = () =>
  new ImportError(404, 'not_found', 'This import does not exist or has been discarded.')

/** 500: the stored job has a format that this version of the app does not support. */
export const unreadableImport = () =>
  new ImportError(
    500,
    'import_unreadable',
    'The record of this import cannot be read. Upload the file again.',
  )
