import pretty, { type PrettyStream } from 'pino-pretty'

/** A human-readable log for `npm run demo` and `npm run dev`: the time, the message, and the important fields. */
export const readableLog = (): PrettyStream =>
  pretty({
    sync: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'requestId,flowId,method,route,status,ms',
    singleLine: true,
    messageFormat:
      '{msg}{if route} {method} {route} {status} {ms} ms{end}{if requestId} · {requestId}{end}{if flowId} · flow {flowId}{end}',
  })
