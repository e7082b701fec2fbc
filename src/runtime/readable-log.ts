import pretty, { type PrettyStream } from 'pino-pretty'

/** The log as lines for people, for `npm run demo` and `npm run dev`: the time, what happened, and the fields that matter. */
export const readableLog = (): PrettyStream =>
  pretty({
    sync: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'requestId,flowId,method,route,status,ms',
    singleLine: true,
    messageFormat:
      '{msg}{if route} {method} {route} {status} {ms} ms{end}{if requestId} · {requestId}{end}{if flowId} · flow {flowId}{end}',
  })
