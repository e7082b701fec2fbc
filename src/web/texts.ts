/**
 * The texts for users on the pages of `src/web`. Change the tone here, or translate them. Each feature with pages for users has
 * such a file, and so do the folders that features share. Pages for developers don't.
 */
import type { CoreErrorCode, FailureCode, OutageKind } from '../connect/errors.ts'
import { type ConnectionState, platform, type Revocation } from '../connect/index.ts'
import { isolated } from './bidi.ts'

/** The language of the texts (BCP 47), also for formatting numbers, dates and lists. */
const LANGUAGE = 'en-AU'

/** The texts for users about an error. */
export interface ErrorText {
  title: string
  detail: string
}

/** The name of this app, wherever pages and emails show it. */
const APP_NAME = 'Connect Starter'
const SAFE = 'Your connection is safe, and the app will try again on next use.'
/** The detail begins with the title, so that it also makes sense alone. */
const outage = (title: string, more: string): ErrorText => ({ title, detail: `${title}. ${more}` })
/** The permission of each scope, in the words of the platform's consent page. */
const PERMISSIONS: Record<string, string> = {
  [platform.scopes.catalogues]: 'See and update your catalogues and their prices',
  [platform.scopes.leads]: 'See your leads and create new ones',
}
/** The purpose of a connection. */
const purpose = (scopes: readonly string[]) =>
  `This app can then use your ${new Intl.ListFormat(LANGUAGE).format(scopes)}. Your password isn't shared, and you can end access at any time.`
/** A connect flow that failed. */
const unfinished = (detail: string): ErrorText => ({ title: 'The connection could not be finished', detail })
const STALE = unfinished(
  'This page belongs to a connection that was started in another browser or by another user, stayed open too long, or was opened twice. Please connect again.',
)
const FAILED_THERE = unfinished(
  'The platform did not respond, or returned an error, when this app asked for access. Nothing was stored; please connect again.',
)
const REJECTED_APP: ErrorText = {
  title: 'The platform rejected this app',
  detail:
    "The platform doesn't accept this app's credentials or the permissions that it asks for. Only this app's developers can fix this, and the error has been logged for them. Trying again won't help. Nothing was stored.",
}
const ENDED: ErrorText = {
  title: 'Access has ended',
  detail:
    'Access to this business was ended on the platform, or it expired. Reconnect the business to continue.',
}

export const texts = {
  language: LANGUAGE,
  /** A time less than a minute ago. */
  justNow: 'just now',

  layout: {
    appName: APP_NAME,
    /** The title of a page with a form that was not accepted. */
    error: (title: string) => `Error: ${title}`,
    skip: 'Skip to content',
    warning: 'Warning',
    account: 'Account',
    connections: 'Connections',
    sandbox: 'Sandbox',
    /** The label of the menu with the pages for developers. */
    developers: 'Developers',
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out everywhere',
    calls: 'API call',
    hideDeveloperPages: 'Hide the pages for developers',
    showDeveloperPages: 'Show the pages for developers',
    breadcrumb: 'Breadcrumb',
    onPlatform: 'On the platform:',
  },

  pager: {
    pages: 'Pages',
    noEntries: (total: number | null) =>
      total === null ? 'No entries on this page' : `No entries on this page; ${total} in total`,
    repeated: 'The platform sent the previous page again, so the rest of the list cannot be shown.',
    firstPage: 'First page',
    range: (from: number, to: number, total: number | null) =>
      total === null ? `${from}–${to}` : `${from}–${to} of ${total.toLocaleString(LANGUAGE)}`,
    previous: 'Previous',
    next: 'Next',
  },

  list: {
    search: 'Search',
    filterBy: (field: string) => `Filter by ${field.toLowerCase()}`,
    all: 'All',
    order: 'Order',
    asOnPlatform: 'As received',
    show: 'Apply',
    nothingFound: 'No entries match your search.',
    showAll: 'Show all',
  },

  form: {
    grantPermission: 'Grant the permission on the “Your connections” page',
    mayBeDone: 'The platform may have completed this request anyway. Check before you submit it again.',
    nothingChanged: 'Nothing was changed.',
    check: 'Please check the field that is marked below.',
    requestId: 'Request ID for support:',
  },

  home: {
    pageTitle: 'Connect your business',
    title: `Connect your business to ${APP_NAME}`,
    lead: (scopes: readonly string[]) =>
      `Sign in here, then allow access on the platform. ${purpose(scopes)}`,
    steps: 'What happens when you connect',
    choose: 'Choose the business',
    chooseHint: 'You log in on the platform and pick which business to connect.',
    chooseAgain: (name: string) => `You log in on the platform and choose ${isolated(name)}.`,
    allow: 'Allow access',
    allowHint: 'The platform shows the permissions that this app requests. You allow or deny them.',
    use: 'Use it here',
    useHint: 'The app stores your access encrypted, and renews it automatically.',
  },

  signIn: {
    signIn: 'Sign in',
    name: 'Your name',
    namePlaceholder: 'Ann',
    nameRule: 'enter a name of 1 to 100 characters',
    demo: 'This is a demo: use any name, no password needed.',
    openDemo:
      'DEMO_ALLOW_REMOTE is true: anyone who can reach this address can sign in under any name and use its connections.',
    notSaved: "You were signed out. Your changes weren't saved.",
    signedOutWhileConnecting:
      "You're no longer signed in, so the business was not connected. Sign in, and then connect it.",
    cookiesBlocked:
      'Your browser blocks cookies for this site, so you cannot stay signed in. Allow cookies for this site, and sign in again.',
    notPending: 'This sign-in was started in another browser, took too long, or has already been completed.',
    unknownUser: 'The sign-in service did not say who you are.',
    unnamed: 'you',
    cancelled: 'You cancelled the sign-in.',
    refused: 'The sign-in service refused the request.',
    misconfigured: "The sign-in service doesn't accept this app, because its settings are wrong.",
  },

  signedOut: {
    pageTitle: 'Signed out',
    title: "You're signed out here",
    lead: "You may still be signed in at your sign-in service. You're being taken there.",
    continue: 'Continue',
  },

  /** The page to link to from emails and other sites. */
  connectPage: {
    reconnect: (name: string) => `Reconnect ${isolated(name)}`,
    /** For a connection that works. */
    works: (name: string) => `${isolated(name)} is connected`,
    worksLead: "You don't need to do anything.",
    /** For visitors who are signed out. `again`: the link names a business, which only its user may see. */
    signedOut: {
      title: (again: boolean) => `${again ? 'Reconnect' : 'Connect'} your business to ${APP_NAME}`,
      lead: `${APP_NAME} asks for access to your business on the platform. Your password isn't shared, and you can end access at any time. The app will be able to:`,
      signIn: 'Sign in first. No business is connected until you press the button on the next page.',
    },
    lead: (scopes: readonly string[]) => `Allow access on the platform. ${purpose(scopes)}`,
    signedInAs: (user: string, team?: string) =>
      team === undefined
        ? `You're signed in as ${isolated(user)}, and the connection will be yours. Nothing happens until you press the button.`
        : `You're signed in as ${isolated(user)}, and everyone at ${isolated(team)} will share the connection. Nothing happens until you press the button.`,
  },

  /** For someone who has to ask a colleague to connect the business. `url`: the page to link to. */
  sendOn: {
    title: "I can't allow this myself",
    lead: 'Send this text to the person who can:',
    label: 'Text to send',
    subject: `Please connect our business to ${APP_NAME}`,
    text: (url: string) =>
      `Could you please connect our business to ${APP_NAME}? Open ${url} and sign in. The page lists the permissions that you give, and you can end access at any time.`,
    email: 'Send it as an email',
  },

  toPlatform: {
    pageTitle: 'To the platform',
    title: "You're being taken to the platform",
    lead: 'There you log in, and choose the business that this app may use.',
    /** For a business that is already connected. */
    leadAgain: (name: string) => `There you choose ${isolated(name)}, and allow access again.`,
    continue: 'Continue to the platform',
  },

  connections: {
    title: 'Your connections',
    connect: 'Connect a business',
    count: (businesses: number) =>
      businesses === 1 ? 'One connected business' : `${businesses} connected businesses`,
    shared: (team: string) => `Everyone at ${isolated(team)} shares these connections.`,
    needsYouFirst: 'Needs your attention first',
    byName: 'Name',
    byUse: 'Last used',
    none: 'No connected businesses yet',
    noneHint: 'Connect a business to use its data here. You can connect more than one.',
  },

  connection: {
    /** `end`: the last characters of its id on the platform. */
    unnamed: (end: string) => `Connected business ${end}`,
    label: 'Your name for this connection',
    labelHint: 'Leave it empty to use the name that the platform reports.',
    saveLabel: 'Save name',
    /** Screen readers announce changes to it. */
    is: (name: string, status: string) => `${name}: ${status}`,
    connectedBy: 'Connected by',
    can: 'This app can',
    /** After access has ended. */
    could: 'This app could',
    permission: (scope: string) => PERMISSIONS[scope] ?? `Use “${scope}”, as the platform calls it`,
    permissionNames: 'Permission names',
    lastUsed: 'Last used',
    connected: 'Connected',
    grantMissing: 'Grant missing permissions',
    connect: 'Connect',
    reconnect: 'Reconnect',
    test: 'Test this connection',
    checkNow: 'Check now',
    details: 'Details',
    detailsOf: (business: string) => `of ${isolated(business)}`,
    businessName: 'Name on the platform',
    id: 'ID on the platform',
    refreshed: 'Access last renewed',
    expires: 'Access is valid',
    /** `{time}` is replaced in the browser: 59 min 30 s. */
    expiresIn: 'for {time}',
    expired: 'no longer; the app renews it on next use',
    accessRefused: 'Access refused',
    revocationDetected: 'End of access noticed',
    platformAnswer: "Platform's response",
    refresh: 'Renew access now',
    refreshHint: (waitSeconds: number) =>
      waitSeconds > 0
        ? `You can renew it again in ${waitSeconds} s.`
        : 'The app does this automatically when it is necessary.',
    disconnect: 'Disconnect',
    remove: 'Remove',
    disconnectHint: "Ends this app's access.",
    removeHint: 'Deletes the connection here.',
    connectedApps: 'See the connected apps on the platform',
  },

  /** The badge of a connection, by its status. */
  status: {
    active: 'Working',
    degraded: 'Not working now',
    revoked: 'Access ended',
    needs_consent: 'Permission missing',
    misconfigured: "We're fixing this",
    unreadable: "Can't be read",
  } satisfies Record<ConnectionState, string>,

  /** The state of a connection in one or two sentences. Times are ISO 8601. Pages show them in the reader's time zone. */
  summary: {
    ready: 'Ready to use.',
    readyUntil: (time: string) =>
      `Ready to use until ${time}. The platform does not let the app renew this access, so you need to reconnect then.`,
    notRenewable:
      'Ready to use. The platform does not let the app renew this access, so you need to reconnect when it ends.',
    ended: (time: string) =>
      `Access ended on ${time}. Someone ended it on the platform, or it expired. Reconnect to continue.`,
    refused: (time: string) =>
      `The platform has refused access since ${time}. Access has probably ended there. Reconnect to continue.`,
    missing: (scopes: readonly string[]) =>
      `Connected, but without permission for ${new Intl.ListFormat(LANGUAGE).format(scopes)}. Grant it to use everything.`,
    forbidden:
      'The platform rejected a request because a permission is missing. Grant access again to use everything.',
    misconfigured:
      "The platform doesn't accept this app's own credentials right now. Its developers have to correct them; you don't need to do anything.",
    missingKey: (keyId: string) =>
      `The record of this connection was encrypted with the key "${keyId}", which is not in TOKEN_ENCRYPTION_KEYS. The app's developers can add it; otherwise, connect the business again.`,
  },

  /** The platform's answer that ended access, for support. */
  revocation: {
    invalid_grant:
      'The platform no longer accepts its earlier grant (invalid_grant), so access has ended there.',
    refused:
      "The platform refuses access and won't renew it, but gives no reason. Access has probably ended there.",
    expired: 'The platform granted access for a limited time only, and that time has passed.',
    rejected:
      'The platform has refused access three times without giving a reason. Access has probably ended there.',
  },

  /** `name`: the name of the connection. */
  notices: {
    connected: (name: string) => `${isolated(name)} is connected.`,
    renewed: (name: string) => `Access to ${isolated(name)} was renewed.`,
    notRenewable: (name: string) =>
      `The platform does not let the app renew the access to ${isolated(name)}. It can be used until it ends.`,
    labelled: (name: string) => `The name is saved: ${isolated(name)}.`,
    worksRenewed: 'Works: access was renewed.',
    worksUntilExpiry: 'Works: access has not ended.',
    withdrawThere: 'End it there',
    connectAgain: 'Connect again',
    disconnected: {
      revoked: (name) =>
        `${isolated(name)} is disconnected: this app can no longer use it, and the consent on the platform has ended.`,
      remains: (name) =>
        `${isolated(name)} is disconnected: this app can no longer use it. The consent on the platform remains.`,
      unknown: (name) =>
        `${isolated(name)} is disconnected: this app can no longer use it. The platform did not confirm that the consent has ended, so it may remain.`,
    } satisfies Record<Revocation, (name: string) => string>,
  },

  disconnect: {
    title: (name: string) => `Disconnect ${isolated(name)}?`,
    /** `uses`: the pages of the connection, such as Leads. */
    lead: (uses: readonly string[]) =>
      uses.length === 0
        ? 'This app will no longer have access to this business, and any work in progress for it will stop.'
        : `This app will no longer have access to this business: ${new Intl.ListFormat(LANGUAGE).format(uses)} will stop working here, and any work in progress for it will stop.`,
    /** `user`: the person on the platform who has connected it. */
    team: (team: string, user: string | null) =>
      `${user === null ? '' : `${isolated(user)} connected it, and `}${user === null ? 'Everyone' : 'everyone'} at ${isolated(team)} shares it: your colleagues lose it, too.`,
    data: 'Nothing is deleted on the platform. You can connect the business again at any time.',
    confirm: 'Disconnect',
    cancel: 'Keep it connected',
    /** For a connection whose access has already ended. */
    remove: {
      title: (name: string) => `Remove ${isolated(name)}?`,
      lead: 'Its access has ended. This removes it from your connections here.',
      confirm: 'Remove',
      cancel: 'Keep it in the list',
    },
  },

  /** The user chose a business on the platform other than the expected one. */
  mismatch: {
    /** Replaces a name that is not known yet. */
    other: (bxcontext: string) => `business ${bxcontext}`,
    title: (chosen: string) => `Connect ${isolated(chosen)} as well?`,
    lead: (chosen: string, expected: string) =>
      `You chose ${isolated(chosen)} on the platform, not ${isolated(expected)}. Nothing has been connected yet.`,
    connect: (chosen: string) => `Connect ${isolated(chosen)}`,
    chooseAgain: 'Choose again',
    cancel: 'Cancel',
    hint: (expected: string) =>
      `To connect ${isolated(expected)}, choose it on the platform, or log in there as someone who has access to it.`,
  },

  errorPage: {
    tryAgain: 'Try again',
    signedInAs: (user: string) => `You're signed in as ${isolated(user)}.`,
    start: 'Start page',
    sandbox: 'The platform is the sandbox:',
    sandboxFaults: 'see its faults and latest calls',
    support: 'For support:',
    requestId: 'request ID',
    /** Replaces the request ID if a connect flow failed. */
    flowId: 'flow ID',
  },

  /** Errors of the core, by code. For `platform_unavailable`, see `outages`. */
  coreErrors: {
    not_connected: {
      title: 'Not connected',
      detail: 'This business is not connected. Connect it to continue.',
    },
    connection_revoked: ENDED,
    insufficient_scope: {
      title: 'A permission is missing',
      detail:
        "The platform doesn't permit this for the business. Grant the missing permissions, or ask the administrator of your account on the platform.",
    },
    grant_rejected: ENDED,
    not_found: { title: 'Not found', detail: 'There is no such entry in this business.' },
    outcome_unknown: {
      title: "The platform didn't confirm this request",
      detail:
        "The platform didn't confirm this request. It may have completed it anyway, so check before you submit it again.",
    },
    platform_rejected: {
      title: 'The platform rejected this request',
      detail:
        'Access may have ended, or the platform did not accept the data that was sent. “Test this connection” shows whether access still works.',
    },
    misconfigured: {
      title: 'This app is not set up correctly',
      detail:
        "This app is not set up correctly. This has been logged for the app's developers; your connection is safe.",
    },
    refresh_too_soon: { title: 'Too soon to renew access', detail: 'Access was renewed a moment ago.' },
    store_unavailable: {
      title: 'Service unavailable',
      detail:
        "This app can't reach its data at the moment. Your connections are not lost. Please try again soon.",
    },
    record_decryption_failed: {
      title: 'This connection cannot be read',
      detail:
        "The record of this connection cannot be decrypted. The app's developers can find the reason in the log. If they can't restore the connection, connect the business again.",
    },
  } satisfies Record<Exclude<CoreErrorCode, 'platform_unavailable'>, ErrorText>,

  /** Errors of this layer, by code. Some have a detail of their own. */
  errors: {
    unauthenticated: { title: 'Please sign in to continue', detail: 'Please sign in to continue.' },
    sign_in_failed: {
      title: 'You are not signed in',
      detail: 'The sign-in could not be completed. Please try again.',
    },
    sign_in_unavailable: {
      title: 'Sign-in is not available',
      detail: "The sign-in service isn't responding. Please try again in a moment.",
    },
    /** For a link to a connection. */
    not_connected: {
      title: "You don't have this connection",
      detail:
        'The connection that this link is for was disconnected, or belongs to another user. Nothing was connected. If you have another login for this app, sign out, and open the link again.',
    },
    invalid_input: { title: 'Please check your input', detail: 'The input is not valid.' },
    csrf_rejected: {
      title: 'Request from another site',
      detail: 'This request came from another site and was not carried out.',
    },
    not_found: { title: 'Not found', detail: 'This page does not exist.' },
    payload_too_large: { title: 'The request is too large', detail: 'The request is too large.' },
    invalid_request: { title: 'Bad request', detail: 'The request could not be read.' },
    internal_error: {
      title: 'Something went wrong',
      detail: "Something went wrong. This has been logged for the app's developers. Please try again.",
    },
  } satisfies Record<string, ErrorText>,

  /** Rules for a field of a form. They appear after the name of the field, or beside it. */
  rules: {
    empty: 'must not be empty',
    text: 'must be text',
    tooLong: (max: number) => `must have at most ${max} characters`,
    invalid: 'is not valid',
    controlCharacters: 'must not contain control characters',
    oneOf: (values: readonly string[]) =>
      `choose one of ${new Intl.ListFormat(LANGUAGE, { type: 'disjunction' }).format(values)}`,
    wholeNumber: (min: number, max: number) => `enter a whole number from ${min} to ${max}`,
  },

  /** More precise details of some errors. */
  details: {
    missingScopes: (scopes: readonly string[]) =>
      `Permission for ${new Intl.ListFormat(LANGUAGE).format(scopes)} is missing for this business. Grant it on the platform to continue.`,
    unexpectedFormat: (field: string) => `The platform's answer has an unexpected format: ${field}.`,
    invalid: (field: string, rule: string) => `${field}: ${rule}.`,
  },

  /** The platform gave no usable answer to the last request. Error pages and the connection's card show these texts. */
  outages: {
    no_answer: outage("The platform isn't responding", SAFE),
    error: outage('The platform returned an error', SAFE),
    busy: outage(
      'The platform is busy',
      `It doesn't accept more requests for this business right now, perhaps because of an import. ${SAFE}`,
    ),
    unreadable: outage('The platform sent an unexpected response', SAFE),
    paused: outage('Access cannot be renewed right now', SAFE),
    rejected: outage(
      'The platform rejected this connection',
      'Access may have ended. Test the connection to see whether it still works.',
    ),
    refused: outage(
      'The platform refused access',
      "It won't renew access to this business. Access may have ended.",
    ),
  } satisfies Record<OutageKind, ErrorText>,
  /** `seconds`: the time until the app or the user can try again. */
  tryAgain: (seconds: number) => `Please try again in ${seconds} s.`,

  /** A connect flow that failed. */
  connectErrors: {
    invalid_bxcontext: {
      title: 'The connection could not be started',
      detail: 'The platform did not say which business you chose. Please connect again.',
    },
    missing_authorization_request: {
      title: 'No connection in progress',
      detail:
        'No connection was started in this browser, it has already finished, or 20 others were started after it. Please connect again.',
    },
    invalid_callback: {
      title: 'The connection could not be finished',
      detail:
        "The platform sent the browser back to an address that this app can't use. Please connect again.",
    },
    invalid_state: STALE,
    code_rejected: STALE,
    consent_denied: {
      title: 'Access was not granted',
      detail: 'Your connections are as they were. You can connect at any time.',
    },
    consent_expired: {
      title: 'That took too long',
      detail:
        'More than 15 minutes passed before access was granted, so nothing was connected. Please connect again.',
    },
    not_a_navigation: unfinished("Open this address in its own tab. It can't be embedded in another page."),
    not_saved_yet: {
      title: 'Not saved yet',
      detail:
        "The platform granted access, but this app's data store hasn't saved it yet. The app keeps trying for ten minutes. Check your connections in a minute; if the business is not listed, connect it again.",
    },
    exchange_incomplete: {
      title: 'The connection was interrupted',
      detail:
        'This connection was interrupted before it was finished. Check your connections; if the business is not listed, connect it again.',
    },
    too_many_connections: {
      title: 'Too many connections',
      detail:
        'You have 10,000 connections, which is the limit. Disconnect a business that you no longer need, and connect again.',
    },
    platform_unavailable: FAILED_THERE,
    platform_rejected: FAILED_THERE,
    consent_unavailable: FAILED_THERE,
    misconfigured: REJECTED_APP,
    consent_misconfigured: REJECTED_APP,
  } satisfies Record<FailureCode, ErrorText>,
}
