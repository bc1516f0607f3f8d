// Package eventstore keeps the events of analytics and answers questions about
// them. It owns the tables whose names begin with event, and the loader that
// fills them from the click log. It does not hold the time-zone arithmetic or
// the access rules of analytics operations.
//
// Engine is what keeps the events. There are three: segments, in Parquet files beside
// the main database; database, in tables of the main database; and clickhouse, in a
// ClickHouse server. They answer one kind of question, Query, and package enginetest
// holds them all to the same answers.
package eventstore
