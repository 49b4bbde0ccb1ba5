// The classes of Foundation that the Objective-C uses, for a check of its syntax and types.
#define nil ((id)0)
typedef signed char BOOL;
typedef long NSInteger;
typedef unsigned long NSUInteger;

@interface NSObject
@end

@interface NSString : NSObject
- (BOOL)isEqualToString:(NSString *)other;
@end

@interface NSConstantString : NSString {
  const char *bytes;
  unsigned int length;
}
@end

@interface NSURL : NSObject
@end

typedef NSUInteger NSDataBase64EncodingOptions;

@interface NSData : NSObject
@property(readonly) NSUInteger length;
@property(readonly) const void *bytes;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url;
- (NSString *)base64EncodedStringWithOptions:(NSDataBase64EncodingOptions)options;
@end

@interface NSMutableData : NSData
@property(readonly) void *mutableBytes;
+ (instancetype)dataWithLength:(NSUInteger)length;
@end

@interface NSError : NSObject
@property(readonly, copy) NSString *domain;
@property(readonly) NSInteger code;
+ (instancetype)errorWithDomain:(NSString *)domain code:(NSInteger)code userInfo:(id)info;
@end

@interface NSUserDefaults : NSObject
@property(class, readonly, strong) NSUserDefaults *standardUserDefaults;
- (NSString *)stringForKey:(NSString *)name;
- (void)setObject:(id)value forKey:(NSString *)name;
- (void)removeObjectForKey:(NSString *)name;
@end

@interface NSBundle : NSObject
@property(class, readonly, strong) NSBundle *mainBundle;
@property(readonly, copy) NSURL *appStoreReceiptURL;
@end
