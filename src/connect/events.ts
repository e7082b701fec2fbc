/**
 * What the core publishes about its work, on `node:diagnostics_channel`. Logs, metrics and an inspector can
 * subscribe; the core imports none of them. Publishing costs almost nothing while nobody subscribes. `BrowserEvent` has secrets,
 * as `Exchange` of platform/exchanges.ts has: who stores, logs or shows any of it masks it first.
 *
 * Subscribers run synchronously. They must not throw: the error would be an uncaught exception, which ends the process.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { requestContext } from './request-context.ts'

/** What an event belongs to. */
export interface EventContext {
  userId?: string
  bxcontext?: string
  /** The id of the connect flow. It is not a secret. */
  authorizationRequestId?: string
  /** The HTTP request of this app that is being handled. */
  requestId?: string
}

interface CommonFields {
  context: EventContext
  /** When it began, in ms since 1970. */
  at: number
  /** How long it took, in ms. */
  ms: number
}

/** A request or a response of the connect flow in the browser. */
export interface BrowserEvent extends CommonFields {
  /** `in`: the browser opened an address of this app. `out`: this app redirects the browser. */
  direction: 'in' | 'out'
  method: 'GET' | 'POST'
  /** The address that arrived, or the one that the browser opens next. */
  url: string
  /** The fields of a form of this app. */
  form: Readonly<Record<string, unknown>>
  /** The status of this app's response, for `out`. */
  status?: number
  /** Why the flow failed, if this response shows a failure. */
  failure?: string
}

export interface EventChannel<T> {
  readonly hasSubscribers: boolean
  publish(event: T): void
  subscribe(onEvent: (event: T) => void): void
  unsubscribe(onEvent: (event: T) => void): void
}

/** A channel of `node:diagnostics_channel` whose events have a type. */
export const typedChannel = <T>(name: string) => channel(name) as unknown as EventChannel<T>

export const browserChannel = typedChannel<BrowserEvent>('connect:browser')

/**
 * Subscribes to a channel, and ignores the errors of `onEvent`: an error of a subscriber would end the process. Returns a
 * function that ends the subscription.
 */
export function subscribe<T>(target: EventChannel<T>, onEvent: (event: T) => void): () => void {
  const guarded = (event: T) => withoutEffect(() => onEvent(event))
  target.subscribe(guarded)
  return () => target.unsubscribe(guarded)
}

/** What the current work belongs to; everything that it awaits inherits it. */
export const eventContext = new AsyncLocalStorage<EventContext>()

type Fields<T extends CommonFields> = Omit<T, keyof CommonFields>

/**
 * Publishes an event. `about` adds to the context of the current work. `startedAt`: when it began (ms since 1970); by
 * default now.
 */
export function publish<T extends CommonFields>(
  target: EventChannel<T>,
  fields: Fields<T>,
  about: EventContext = {},
  startedAt = Date.now(),
): void {
  if (!target.hasSubscribers) return
  const context = contextOf(about)
  target.publish({ ...fields, context, at: startedAt, ms: Date.now() - startedAt } as T)
}

/** Runs `reporting` and ignores its errors, so that it never affects the work that it reports. */
export function withoutEffect(reporting: () => void): void {
  try {
    reporting()
  } catch {
    // This event is missing.
  }
}

/** What the current work belongs to, and what `about` adds to it. */
export function contextOf(about: EventContext = {}): EventContext {
  const { userId, bxcontext, authorizationRequestId } = about
  return {
    ...requestContext.getStore(),
    ...eventContext.getStore(),
    ...(userId !== undefined && { userId }),
    ...(bxcontext !== undefined && { bxcontext }),
    ...(authorizationRequestId !== undefined && { authorizationRequestId }),
  }
}
