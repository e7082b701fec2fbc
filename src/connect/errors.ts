/** The core's errors, each with a stable `code` and an HTTP `status`. Incorrect use throws a `TypeError` or a plain `Error`. */
export { AppError, type AppErrorOptions, CoreError, type CoreErrorCode } from './app-error.ts'
export { ConnectError, type FailureCode } from './authorization/errors.ts'
export {
  ConfigurationError,
  ConnectionRevokedError,
  type EndReason,
  InsufficientScopeError,
  InvalidGrantError,
  NotConnectedError,
  NotFoundError,
  type OutageKind,
  OutcomeUnknownError,
  PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
  RefreshTooSoonError,
} from './platform/errors.ts'
export { StoreUnavailableError } from './store/store.ts'
export { DecryptionError } from './vault/encryption.ts'
