import { format } from '../../../web/kit.ts'
import { MONEY, type Money, type Use } from './choice.ts'
import type { BoxReason, Missing, Reason, Remark } from './found.ts'

const { count, isolated, pluralize } = format

/** The words for the uses of a column. */
const USE_WORDS = {
  code: 'code',
  price: 'price',
  name: 'name',
  description: 'description',
  unit: 'unit',
  category: 'category',
  count: 'units of each price, by row',
  only: 'only rows where this is …',
  taxed: 'including GST only where this is …',
  ignored: 'not sent',
} satisfies Record<Use, string>

const CURRENCIES = { AUD: 'Australian dollars', NZD: 'New Zealand dollars' }

/** An answer about the money, such as "Australian dollars, including 10 % GST". */
function money(answer: Money): string {
  const { currency, tax } = MONEY[answer]
  return `${CURRENCIES[currency]}, ${tax === 0 ? 'before GST' : `including ${tax} % GST`}`
}

/** A value of a cell; a blank one has a word. */
const valueText = (value: string) => (value === '' ? '(blank)' : value)

/** How much a new price differs from the old one: "3.5 %", at least 0.1. From twice the old price on, "× 2"; from half of it, "÷ 2". */
function difference(of: number): string {
  if (of >= 2) return `× ${count(of)}`
  if (of > 0 && of <= 0.5) return `÷ ${count(1 / of)}`
  return `${count(Math.max(0.1, Number((Math.abs(of - 1) * 100).toFixed(1))))} %`
}

/** The same with the sign of a percentage. `of`: new/old. */
const change = (of: number) =>
  of > 0.5 && of < 2 ? `${of < 1 ? '−' : '+'}${difference(of)}` : of === 0 ? '−100 %' : difference(of)

/**
 * What users read on the pages of this feature and in its command, by code, as in `src/web/texts.ts`; `sentences.ts` says which
 * one stands for what was found. `src/features/supplier/tables/texts.ts` has what is wrong with a file.
 */
export const texts = {
  /** What the permission is for; begins with "to". */
  reason: 'to import items and prices',

  /** The platform has no such import. */
  importNotFound: 'There is no such import in this account.',

  uses: USE_WORDS,
  money,
  value: valueText,
  difference,
  change,

  /** The section of a catalogue. */
  section: {
    title: 'Import a price file',
    lead: 'Upload a spreadsheet (XLSX) or CSV file with a code and a price in each row. You can review it before anything is sent.',
    file: 'Price file',
    upload: 'Upload and check',
    imports: 'Imports',
    fileName: 'File',
    state: 'State',
    rows: 'Rows',
    uploaded: 'Uploaded',
  },

  states: {
    ready: 'ready to send',
    needsInput: 'needs your input',
    running: 'running',
    completed: 'completed',
    failed: 'failed',
    stopped: 'stopped',
  },

  /** A line on the card of a connection. */
  importOf: (file: string, hasFailed: boolean) =>
    `Import of ${format.undirected(file)}${hasFailed ? ' (failed)' : ''}`,

  page: {
    remove: 'Remove from this list',
    discard: 'Discard this file',
    /** For an import whose items may have been sent. */
    discardImport: 'Discard…',
    discardHint: (sent: number, all: number, catalogue: string) =>
      `This import ends: its file is deleted here, and the rest of its items can no longer be sent. What was sent stays in “${isolated(catalogue)}”: ${count(sent)} of ${pluralize(all, 'item')}.`,
    discardNow: 'Discard the import',
  },

  /** Page one: what the columns are, and what the prices are. */
  choose: {
    say: 'Say what the columns are, and what the prices are.',
    suggested: 'Suggested from the headings: check them.',
    filledIn: (who: string, at: string) => `Filled in as ${who} chose on ${at}.`,
    you: 'you',
    someone: 'someone',
    commandLine: 'the command line',
    file: 'The file',
    row: 'Row',
    sheet: 'Sheet',
    hiddenSheet: (name: string) => `${name} (hidden)`,
    headingsRow: 'Headings are in row (0 if there are none)',
    again: 'Show this sheet and row',
    columns: 'Columns',
    columnNumber: (number: number) => `Column ${number}`,
    useOf: (column: string) => `Use of ${column}`,
    tick: 'Tick one or more values.',
    manyMore: (values: number) => `and ${count(values)} more`,
    moreToTick: '“Show this sheet and row” lists all of them.',
    manyValues: (max: number) => `more than ${count(max)} different values:`,
    oneValue: (columns: number) => `${pluralize(columns, 'column')} with one value:`,
    moneyOf: (heading: string) => `The prices${heading && ` under ${isolated(heading)}`} are in`,
    units: 'Prices are for how many units?',
    decimal: (cell: string) => `Decimal sign of ${cell}`,
    decimals: { point: 'Point: 1,234.50', comma: 'Comma: 1.234,50' },
    goOn: 'Continue',
  },

  /** Why page one must be filled in. */
  missing(reason: Missing): string {
    switch (reason.kind) {
      case 'unanswered':
        return {
          code: `Choose which column is the code: set its use to “${USE_WORDS.code}”.`,
          price: `Choose which column is the price: set its use to “${USE_WORDS.price}”.`,
          money: 'Say which money the prices are in.',
        }[reason.what]
      case 'noSheet':
        return `The file has no sheet ${isolated(reason.name)}: choose one.`
      case 'noColumn':
        return `The file has no column ${isolated(reason.heading)}, which was used as “${USE_WORDS[reason.use]}”.`
      case 'nothingTicked':
        return `Tick one or more values of ${isolated(reason.heading)}.`
      case 'manyValues':
        return `${isolated(reason.heading)} has too many values to tick: choose another use for it.`
      case 'taxedBeforeGst':
        return 'Some rows include GST, but the answer about the prices is “before GST”.'
      case 'decimal':
        return `Choose the decimal sign: ${isolated(reason.cell)} reads differently under the two.`
    }
  },

  /** Page two: what differs. */
  compare: {
    title: 'What differs',
    change: 'Change how it is read',
    nothingReceived: 'Nothing was sent to this catalogue from here yet.',
    unfinished: 'The last import was not finished.',
    prices: (same: number, higher: string, lower: string) =>
      `${pluralize(same, 'price is', 'prices are')} the same${higher}${lower}.`,
    /** `most`: by how much at most. */
    higher: (items: number, most: string) => `, ${count(items)} higher (up to ${most})`,
    lower: (items: number, most: string) => `, ${count(items)} lower (up to ${most})`,
    codes: (added: number, gone: number) => `${count(added)} new, ${count(gone)} no longer in the file.`,
    gone: 'Not in the file, and kept in the catalogue:',
    newTexts: (place: string) => `New${inPlace(place)}:`,
    goneTexts: (place: string) => `No longer there${inPlace(place)}:`,
    uncompared: (more: number) => `${pluralize(more, 'more text was', 'more texts were')} not compared.`,
    newValues: (heading: string) => `New values of ${isolated(heading)}:`,
    value: (value: string, rows: number) => `${value} (${pluralize(rows, 'row')})`,
    dates: (dates: number, heading: string) => `${pluralize(dates, 'new date')} in ${isolated(heading)}.`,
    amounts: (amounts: number, heading: string) =>
      `${pluralize(amounts, 'new amount')} in ${isolated(heading)}, which is not sent.`,
    isMany: (heading: string) => `${isolated(heading)} has too many values to compare.`,
    more: (more: number) => `${count(more)} more`,
  },

  /** The ten rows. */
  examples: {
    title: (shown: number, items: number) =>
      shown === items ? `All ${pluralize(items, 'item')}` : `${shown} of ${pluralize(items, 'item')}`,
    leaveOut: (code: string) => `Leave out ${code}`,
    hint: 'Tick to leave out.',
    allCells: 'All cells',
    constants: 'The same in every row:',
    row: (row: number) => `row ${row}`,
    isNew: 'new',
    same: 'as before',
    zero: 'before: 0',
    per: (unit: string) => `per ${isolated(unit)}`,
    newMark: (cell: string) => `${cell} (new)`,
  },

  /** The rows that are not sent. */
  rejected: {
    title: 'Rows not sent',
    rows: (reason: string, rows: number) => `${reason} (${count(rows)})`,
    row: (row: number) => `Row ${row}`,
    newRow: (row: number) => `  Row ${row} (new)`,
    isNew: 'new',
    otherRow: (row: string) => `see row ${row}`,
    first: (shown: number) => `The first ${count(shown)}, new ones first:`,
    cures: {
      damagedCode:
        'These codes look like a date or a long number in a spreadsheet: format the column as text, and enter them again.',
      noValue: 'Open the file in your spreadsheet, and save it.',
      otherPrice: 'The same code with different prices or units: none is sent, because each could be wrong.',
    } as Partial<Record<Reason, string>>,
    undo: (code: string) => `Leave out ${code}, as before`,
    reasons: {
      noCode: 'No code',
      noPrice: 'No price',
      unreadablePrice: 'Unreadable price',
      negativePrice: 'Negative price',
      otherPrice: 'Code with two prices',
      damagedCode: 'Damaged code',
      errorCell: 'Error in a cell',
      noValue: 'Formula without a value',
      struckOut: 'Struck out',
      count: 'Unusable number of units',
      notTicked: 'Value not ticked',
      moreCells: 'More cells than headings',
      openQuote: 'Quote not closed',
      invisible: 'Invisible characters or line breaks',
      leftOut: 'Left out by hand',
    } satisfies Record<Reason, string>,
  },

  /** The box that asks for a tick. */
  box: { title: 'Look at this before you send', tick: 'I have looked, and this is right.' },

  /** Why the box is there. */
  boxReason(reason: BoxReason): string {
    switch (reason.kind) {
      case 'nothingReceived':
        return 'Nothing can be compared: the catalogue may have other prices.'
      case 'halfOutside':
        return `${ofKnown(reason, 'price')} changed by more than 7 % down or 8.5 % up.`
      case 'farOutside':
        return `${ofKnown(reason, 'price')} fell below half, or more than doubled.`
      case 'oneFactor':
        return `${ofKnown(reason, 'price')} changed by the same factor: ${change(reason.factor)}.`
      case 'unknownCodes':
        return `${count(reason.items)} of ${pluralize(reason.of, 'code')} were not received from here before.`
      case 'knownNotSent':
        return `${ofKnown(reason, 'item')} will not be sent.`
      case 'money':
        return `Last time, the prices were in ${money(reason.before)}.`
      case 'units':
        return `Last time, a price was for ${pluralize(reason.before, 'unit')}.`
      case 'priceColumn':
        return `Last time, the prices were those of ${isolated(reason.before)}.`
      case 'newValue':
        return `${isolated(reason.heading)} has a new value: ${isolated(valueText(reason.value))}, in ${pluralize(reason.count, 'row')}.`
      case 'manyValues':
        return `${isolated(reason.heading)} had at most five values, and now has too many to compare.`
    }
  },

  /** Send, and what goes where. */
  send: {
    /** How the prices were read. */
    prices: (heading: string, answer: Money, units: number) =>
      `${isolated(heading)} is in ${money(answer)}${units === 1 ? '' : `, for ${pluralize(units, 'unit')}`}.`,
    audiences: {
      Public: 'Every connected builder sees these prices.',
      Managed: 'Builders with access see these prices.',
    } as Record<string, string>,
    unknownAudience: 'The platform does not say who sees these prices.',
    send: (items: number, catalogue: string) => `Send ${pluralize(items, 'item')} to ${isolated(catalogue)}`,
    nothing: 'Nothing can be sent.',
    shownAgain: 'Nothing was sent yet: this is what will be sent now. Look at it, and send it.',
    choice: 'For the command line',
    choiceHint: 'The next files of this catalogue can be sent by a command with this argument:',
  },

  /** Sending, and what became of it. */
  sending: {
    completed: (items: number, catalogue: string) =>
      `The platform has completed the import: ${pluralize(items, 'item')} sent to “${isolated(catalogue)}”.`,
    kept: 'Items already sent are kept. Sending again resumes this import, or sends all items again if the platform has lost or rejected some; existing items are updated, not duplicated.',
    stopped: 'You stopped this import. Items already sent are kept, and you can resume where it stopped.',
    starting: 'Starting…',
    sending: 'Sending items to the platform.',
    processing: 'All items sent. The platform is processing them.',
    progress: 'Sent',
    leave: 'You can leave this page and come back.',
    itemsSent: 'Items sent',
    sentOf: (sent: number, all: number, batches: number) =>
      `${count(sent)} of ${count(all)}, in ${pluralize(batches, 'batch', 'batches')}`,
    processed: 'Processed by the platform',
    platformState: 'State on the platform',
    ended: { completed: 'Finished', stopped: 'Stopped', failed: 'Failed' },
    again: 'Send again',
    resume: 'Resume',
    stop: 'Stop…',
    stopHint: (catalogue: string) =>
      `What has been sent stays in “${isolated(catalogue)}”: builders who can see that catalogue find new prices beside old ones until the import is resumed.`,
    stopNow: 'Stop the import',
    open: 'Open the catalogue',
    waits: (file: string, catalogue: string) =>
      `The import of ${isolated(file)} into “${isolated(catalogue)}” waits.`,
  },

  /** Sending waits for the platform, or for the store. `title`: the title that the platform's outage has on other pages. */
  waiting: (title = "The app's own data store is not available") =>
    `${title}. The app tries again automatically.`,

  /** Why an import has failed. `message`: what the platform says, if it does. */
  failures: {
    app: 'The import stopped because of an error in this app. It has been logged.',
    revoked: 'Access to this account has ended. Reconnect the account, and send again.',
    fileGone: 'The price file of this import is no longer available. Upload it again.',
    /** `words`: what the platform says, here and below. */
    notCompleted: (words: string) => `The platform could not complete the import: ${words}`,
    startRefused: (message: string) => `The platform refused to start the import and said: ${message}`,
    /** `code`: the code of the first item of the refused upload, which has at most 1,000 items. */
    uploadRefused: (code: string, message: string) =>
      `The platform refused the upload that begins with “${code}” and said: ${message}`,
    fewerItems: (accepted: number, sent: number, message: string) =>
      `The platform completed the import with ${accepted} of the ${sent} items that were sent. ${message}`.trim(),
    rejectedItems: (rejected: number, sent: number, message: string) =>
      `The import is incomplete: the platform rejected ${rejected} of ${sent} items. ${message}`,
    problems: (words: string) => `The platform says that there were problems: ${words}`,
    notUnderstood: (answer: string) =>
      `The platform's answer about the import is not understood. It begins: ${answer}`,
    stillProcessing: (state: string) =>
      `All items were sent, but the platform is still processing them (state: "${state}"). Run the import again later.`,
  },

  /** Titles of errors, by code. */
  titles: {
    payload_too_large: 'File too large',
    storage_full: 'No space for price files',
    conflict: 'Not possible now',
    not_found: 'Not found',
    invalid_input: 'Please check your input',
    import_failed: 'The import was not completed',
  },

  /** Why a request about an import cannot be carried out. */
  errors: {
    notFound: 'This import does not exist or has been discarded.',
    tooLarge: (limit: string) => `The price file is larger than the limit of ${limit}.`,
    storageFull:
      'There is no space for more price files at the moment. Discard imports that you no longer need, or try again later.',
    tooMany: (max: number) => `${max} of your uploads are being read. Wait for one to finish.`,
    notPossible: (state: string) => `This is not possible while the import is ${state}.`,
    readOtherwise: 'This import has changed meanwhile. Look at it again.',
    noItems: 'No row of this file can be sent.',
    otherRunning:
      'Something else is being sent into this catalogue. Nothing was sent: try again when that has ended.',
    uploadInterrupted: 'The upload was interrupted or is not a valid form.',
  },

  /** Rules for the fields of the form. */
  rules: {
    file: 'choose a price file',
    confirm: 'tick the box to send this',
    choice: 'choose from what the page offers',
    headingsRow: 'give the number of a row, or 0',
    units: 'give a number from 1',
    once: 'use only one column for this',
  },

  /** How a file was read. */
  remark(remark: Remark): string {
    switch (remark.kind) {
      case 'windows1252':
        return 'The file is not in UTF-8, so it was read as Windows-1252. Check letters with accents and symbols.'
      case 'hiddenRows':
        return `${pluralize(remark.rows, 'row is', 'rows are')} hidden in the workbook, and sent all the same.`
    }
  },
}

const inPlace = (place: string) => (place === '' ? '' : ` in ${isolated(place)}`)
const ofKnown = ({ items, of }: { items: number; of: number }, what: string) =>
  `${count(items)} of ${pluralize(of, `known ${what}`)}`
