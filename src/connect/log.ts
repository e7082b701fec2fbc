/** Where the core logs to, such as pino or `console`-like loggers that take fields first. Fields never hold a secret. */
export interface Log {
  info: LogMethod
  warn: LogMethod
  error: LogMethod
}

interface LogMethod {
  (fields: object, message: string): void
  (message: string): void
}

export const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} }
