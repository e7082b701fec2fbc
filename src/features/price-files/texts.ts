import type { Currency } from '../../tables/prices.ts'
import { format } from '../../web/kit.ts'
import type { Use } from './choice.ts'

const { count, isolated, pluralize } = format

/**
 * What users read on the pages of this feature, by code, as in `src/web/texts.ts`. `src/tables/texts.ts` has what is wrong
 * with a file or a price. Problems of a row follow its line number.
 */
export const texts = {
  /** What the permission is for; begins with "to". */
  reason: 'to import items and prices',

  /** The platform has no such import. */
  importNotFound: 'There is no such import in this account.',

  /** What a column may be used for. */
  uses: {
    code: 'code',
    price: 'price',
    name: 'name',
    description: 'description',
    unit: 'unit',
    category: 'category',
    count: 'price is for this many',
    only: 'only rows where this is …',
    taxed: 'including GST only where this is …',
    ignored: 'not sent',
  } satisfies Record<Use, string>,

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
    nothingToSend: 'nothing to send',
    running: 'running',
    completed: 'completed',
    failed: 'failed',
    stopped: 'stopped',
  },

  /** The end of an import, on the next page of its user. */
  notice: {
    completed: (file: string, items: number, catalogue: string) =>
      `Import of ${isolated(file)}: ${pluralize(items, 'item')} sent to “${isolated(catalogue)}”.`,
    stopped: (file: string, failure: string) => `The import of ${isolated(file)} has stopped: ${failure}`,
    open: 'Open the import',
  },
  /** On the card of a connection. */
  importOf: (file: string) => `Import of ${format.undirected(file)}`,

  page: {
    remove: 'Remove this report',
    discard: 'Discard this file',
    /** Of an import of which items may have been sent. */
    discardImport: 'Discard…',
    discardHint: (sent: number, all: number, catalogue: string) =>
      `This import ends: its file is deleted here, and what is left of it can no longer be sent. What was sent stays in “${isolated(catalogue)}”: ${count(sent)} of ${pluralize(all, 'item')}.`,
    discardNow: 'Discard the import',
  },

  /** The page on which a person confirms how the file is read. */
  confirm: {
    title: 'Confirm how this file is read',
    changed: 'This file differs from the one that was confirmed before:',
    kept: 'The earlier answers are kept for what is the same.',
    askedAgain:
      'The columns that are the same keep their use. Because the file says something else, the questions about its prices are asked again.',
    follows: 'This file is read as it was confirmed for files of this layout:',
    change: 'Change',
    toNext: 'Continue',
    left: (questions: number) => (questions === 1 ? 'Last question.' : `${questions} questions left.`),
    answers: 'How the file is read',
    toManaged: 'Open or create a Managed catalogue',
    moveHere: (file: string) => `Move ${isolated(file)} here, with its answers`,
    waitsHere:
      'These files have prices that are not for everyone, and are in a catalogue that every builder sees:',
    says: 'What else the file says',
    saysNothing: 'Nothing.',
    sheetSays: (sheet: string) => `Sheet “${sheet}”`,
    hiddenSheet: 'hidden',
    sheets: 'Sheets',
    useSheet: (sheet: string) => `Send the items of “${sheet}”`,
    columnsTitle: 'Columns',
    columnsOf: (sheet: string) => `Columns of “${sheet}”`,
    column: 'Column',
    columnNumber: (number: number) => `Column ${number}`,
    samples: 'Cells',
    blank: '(blank)',
    isHidden: 'hidden in the workbook',
    use: 'Use',
    headingsRow: 'Row of the headings (0: none)',
    decimal: 'Decimal sign',
    point: 'Point: 1,234.50',
    comma: 'Comma: 1.234,50',
    useColumns: 'Use these columns',
    useAnswers: 'Use these answers',
    priceSent: 'Price sent, before GST',
    less: (tax: string) => `less ${tax} GST`,
    rows: 'Rows as they will be sent',
    rowsOf: (sheet: string) => `Rows of “${sheet}” as they will be sent`,
    /** `row`: its line, behind the name of its sheet, and its code if it has one. */
    isSkipped: (row: string, reason: string) => `Line ${row} is left out: ${reason}`,
    moreSkipped: 'More are listed below.',
    counts: (rows: number, valid: number, invalid: number) =>
      `Checked ${pluralize(rows, 'row')}: ${count(valid)} ready, ${count(invalid)} with problems.`,
    right: 'This is right',
    notSentYet: 'Nothing is sent yet.',
    choose: 'choose…',
    notUsed: 'not used',
    cancelled: 'Nothing was confirmed, so nothing was sent.',
    notConfirmed:
      'Nobody has confirmed how this file is read, so nothing was read from it. What would have to be confirmed:',
    howInTerminal: (command: string) =>
      `Confirm it in a terminal: ${command}. Then use --layout layout.json.`,
  },

  /** What a person is asked of the columns, and of the prices. */
  questions: {
    column: (use: string, sheet: string) => `Which column is the ${use}${inSheet(sheet)}?`,
    cells: {
      'tax included': (heading: string) => `The price includes GST if “${heading}” says:`,
      'not for sale if': (heading: string) => `An item is not for sale if “${heading}” says:`,
    },
    none: 'None of these',
    both: 'Both',
    several: (heading: string) =>
      `“${heading}” says how many the price is for. What is sent of a row whose price is for more than one?`,
    divided: 'The price of one: the price is divided',
    rejected: 'Nothing: the row is listed as a problem',
    tax: 'Are the prices before GST?',
    /** If a column says which prices include tax. */
    taxOfColumn: 'How much GST is included?',
    beforeTax: 'Before GST',
    including: (percent: number) => `Including ${percent} % GST`,
    ofColumn: (percent: number) => `${percent} %`,
    currency: 'In which currency are the prices?',
    currencies: { AUD: 'Australian dollars', NZD: 'New Zealand dollars' } satisfies Record<Currency, string>,
    otherCurrency: 'For another currency, convert the prices first.',
    audience: 'Who may see the prices?',
    audiences: {
      everyone: 'Everyone (list or retail prices)',
      selected: 'Only builders with access (trade prices)',
    },
    publicCatalogue: 'Every builder sees this catalogue.',
    everySheet:
      'The answer is about every sheet that is used. If one differs, send it by an upload of its own, without the others.',
  },

  /** What will be sent. */
  ready: {
    title: 'What will be sent',
    rows: (valid: number, all: number, catalogue: string) =>
      `${count(valid)} of ${count(all)} rows can be sent to “${isolated(catalogue)}”. Nothing has been sent yet.`,
    rowsWithProblems: (valid: number, all: number, catalogue: string, invalid: number) =>
      `${count(valid)} of ${count(all)} rows can be sent to “${isolated(catalogue)}”; ${pluralize(invalid, 'row has a problem', 'rows have problems')} and will be skipped. Nothing has been sent yet.`,
    none: (all: number) =>
      all === 0
        ? 'The file has no rows that can be sent.'
        : `0 of ${pluralize(all, 'row')} can be sent: each has a problem, or is not for sale. Correct those that are listed below, and upload the file again.`,
    othersStay: 'Items that are in the catalogue and not in this file stay there.',
    send: (items: number) => `Send ${pluralize(items, 'item')}`,
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
    skipped: 'Skipped',
    rows: (rows: number) => pluralize(rows, 'row'),
    started: 'Started',
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
    waitingForTurn:
      'Imports into one catalogue run one after the other: this one begins when no other is running.',
  },

  /** Sending waits for the platform, with the title of its outage on other pages, or for the store. */
  waiting: (title = "The app's own data store is not available") =>
    `${title}. The app tries again automatically.`,

  /** The rows with problems. */
  problems: {
    title: 'Problems',
    all: (rows: number) => `Download ${count(rows)} as CSV`,
    first: (shown: number, rows: number) => `The first ${shown} of ${count(rows)} rows`,
    willBeSkipped: 'Rows that will be skipped',
    wereSkipped: 'Rows that were skipped',
    line: 'Line',
    reason: 'Reason',
    row: 'Row',
    sheet: 'Sheet',
    hint: 'Correct these rows in your file, and upload it again: a file of the same layout needs no confirmation.',
  },

  /** Why an import has failed. `message`: what the platform says, if it does. */
  failures: {
    app: 'The import stopped because of an error in this app. It has been logged.',
    revoked: 'Access to this account has ended. Reconnect the account, and send again.',
    fileGone: 'The price file of this import is no longer available. Upload it again.',
    notCompleted: (message: string) =>
      message === ''
        ? 'The platform could not complete the import.'
        : `The platform could not complete the import: ${message}`,
    startRefused: (message: string) => `The platform refused to start the import and said: ${message}`,
    /** `code`: that of the first of the items, at most 1,000, that were refused. */
    uploadRefused: (code: string, message: string) =>
      `The platform refused the upload that begins with “${code}” and said: ${message}`,
    fewerItems: (accepted: number, sent: number, message: string) =>
      message === ''
        ? `The platform completed the import with ${accepted} of the ${sent} items that were sent.`
        : `The platform completed the import with ${accepted} of the ${sent} items that were sent: ${message}`,
    rejectedItems: (rejected: number, sent: number, message: string) =>
      `The import is incomplete: the platform rejected ${rejected} of ${sent} items. ${message}`,
    /** `words`: the platform's. */
    problems: (words: string) => `The platform says that there were problems: ${words}`,
    notUnderstood: (answer: string) =>
      `The platform's answer about the import is not understood. It begins: ${answer}`,
    stillProcessing: (state: string) =>
      `All items were sent, but the platform is still processing them (state: "${state}"). Run the import again later.`,
  },

  /** Titles of errors, by code. */
  titles: {
    payload_too_large: 'File too large',
    upload_quota_exceeded: 'Storage limit reached',
    storage_full: 'No space for price files',
    conflict: 'Not possible now',
    not_found: 'Not found',
    invalid_input: 'Please check your input',
    import_failed: 'The import was not completed',
  },

  /** Why a request about an import cannot be carried out. */
  errors: {
    notFound: 'This import does not exist or has been discarded.',
    noReport: 'This import has no report.',
    tooLarge: (limit: string) => `The price file is larger than the limit of ${limit}.`,
    quota: (limit: string) =>
      `Your price files may use up to ${limit} in total. Discard imports that you no longer need.`,
    storageFull:
      'There is no space for more price files at the moment. Discard imports that you no longer need, or try again later.',
    tooMany: (max: number) => `${max} of your uploads are being read. Wait for one to finish.`,
    notPossible: (state: string) => `This is not possible while the import is ${state}.`,
    notChosen: 'Say what the columns are and what the prices are first.',
    otherRunning:
      'Something else is being sent into this catalogue. Nothing was sent: try again when that has ended.',
    stopping: 'The import is just being stopped. Try again in a moment.',
    readOtherwise: 'The file is read in another way by now. Look at it again.',
    noRows: 'This file has no rows that can be sent.',
    uploadInterrupted: 'The upload was interrupted or is not a valid form.',
  },

  /** Rules for the fields of the form. */
  rules: {
    file: 'choose a price file',
    confirm: 'tick the box to send this',
    draft: 'choose from what the page offers',
    headingsRow: 'give the number of a row, or 0',
  },

  /** Why a file cannot be read, beside what `src/tables/texts.ts` has. */
  unreadable: {
    noRows: 'the file has no rows.',
    manyColumns: (columns: number, max: number) => `it has ${columns} columns; the maximum is ${max}.`,
    manyRows: (max: number) => `it has more than ${count(max)} rows. Split it into smaller files.`,
    tooMuch: 'this file takes too much time or memory to check. Split it into smaller files.',
  },

  /** What keeps a layout from being confirmed. */
  layout: {
    noSheet: 'Choose a sheet.',
    twice: (use: string, sheet: string) => `Only one column can be used as “${use}”${inSheet(sheet)}.`,
    manyCells: (heading: string, use: string) =>
      `The column “${heading}” has too many or too long cells for “${use}”: choose another use for it.`,
    taxOnOneSheet: (sheet: string) =>
      `“${sheet}” has no column for “tax included”, and another sheet has: send it by an upload of its own.`,
    publicCatalogue:
      'These prices are not for everyone, and this catalogue is not Managed: every builder would see them. Open or create a Managed one: this file can be moved there, with its answers.',
    noRows: 'No row has a code and a price: choose other columns, or another row of headings.',
    manyTexts:
      'There is more text outside the tables than can be looked at. Choose other columns or another row of headings, or delete rows without a code or a price, or whole sheets, from the file.',
  },

  /** What is different from the file that a layout was confirmed for. */
  changed: {
    headings: 'the headings or the number of columns',
    sheetNew: (sheet: string) => `new sheet “${sheet}”`,
    sheetMissing: (sheet: string) => `no sheet “${sheet}” any more`,
    columnNew: (column: string) => `new column “${column}”`,
    columnMissing: (column: string) => `no column “${column}” any more`,
    columnsMoved: 'the columns are in another order',
    textNew: (text: string) => `the file now says “${text}”`,
    textMissing: (text: string) => `the file no longer says “${text}”`,
  },

  /** How a file was read. */
  remarks: {
    utf16: 'The file is in UTF-16.',
    windows1252:
      'The file is not in UTF-8, so it was read as Windows-1252. Check letters with accents and symbols.',
    hiddenRows: (rows: number) =>
      `${pluralize(rows, 'row is', 'rows are')} hidden in the workbook, and sent all the same.`,
    repeatedRows: (rows: number) =>
      `${pluralize(rows, 'row repeats', 'rows repeat')} an item that is sent once.`,
    notForSale: (rows: number) => `${pluralize(rows, 'row is', 'rows are')} left out as not for sale.`,
    free: (items: number) => `${pluralize(items, 'item has', 'items have')} a price of 0.`,
  },

  /** What is wrong with a row. */
  row: {
    noCode: 'the code is missing.',
    unclosedQuote: (lines: number) =>
      `a quote is not closed: one cell contains ${lines} lines that look like rows.`,
    cells: (cells: number, headings: number) => `it has ${cells} cells under ${headings} headings.`,
    cellsOfText: (cells: number, headings: number) =>
      `it has ${cells} cells under ${headings} headings; a cell may need quotes.`,
    tooLong: (field: string, length: number, max: number) =>
      `the ${field} has ${length} characters; the maximum is ${max}.`,
    formulaError: (field: string, cell: string) =>
      `the ${field} is an error of a spreadsheet formula ("${cell}").`,
    invisible: (field: string) => `the ${field} contains a line break or an invisible character.`,
    /** `sheet`: if it is another one. */
    otherPrice: (code: string, line: number, sheet = '') =>
      `the code "${code}" has another price or unit on line ${line}${inSheet(sheet)}, so neither is sent.`,
    struck: 'a cell is struck out: write what counts, or delete the row if the item is no longer sold.',
    notANumber: (cell: string) => `how many the price is for is not a number ("${cell}").`,
    severalUnits: (count: number, heading: string) =>
      `the price is for ${count}, not for one. To send the price of one, choose that prices are divided by “${heading}”.`,
    unknownValue: (heading: string, cell: string) =>
      `the column "${heading}" says "${cell}", which nobody has confirmed the meaning of.`,
  },
}

const inSheet = (sheet: string) => (sheet === '' ? '' : ` in the sheet “${sheet}”`)
