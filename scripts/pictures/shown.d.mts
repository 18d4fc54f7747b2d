export declare const folder: URL
export declare const record: URL
export declare function shownNow(): { pages: string[]; story: string }
